//! A run: keys in the order of their bytes, in a file that is never changed.
