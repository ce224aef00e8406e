// The first file of Mintmark.
