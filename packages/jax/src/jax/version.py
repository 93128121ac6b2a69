"""Version of the public interface that this distribution follows."""
__version__ = "0.12.0"
__version_info__ = (0, 12, 0)
_version = __version__  # which torchax reads
