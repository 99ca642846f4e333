"""Programs around the compiler."""
