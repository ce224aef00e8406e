// The first file of Storage.
