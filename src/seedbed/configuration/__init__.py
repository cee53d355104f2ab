"""What the project is asked to build: files read, checked and named, before anything is computed."""
