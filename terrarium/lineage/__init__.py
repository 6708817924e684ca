"""What artifacts say of where they come from, read as files."""
