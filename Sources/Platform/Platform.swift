// The first file of Platform.
