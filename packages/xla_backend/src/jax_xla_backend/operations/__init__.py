"""Operations that only this backend has: programs on parts of arrays, notes to the compiler, values between processes."""
