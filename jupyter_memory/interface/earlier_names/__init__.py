"""Earlier names of modules, importable from `jupyter_memory` for one more release."""
