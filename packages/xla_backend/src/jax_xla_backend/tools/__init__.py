"""Profiles, inspection, estimates, exported programs."""
