"""What has been compiled just in time, kept in files for other processes."""
