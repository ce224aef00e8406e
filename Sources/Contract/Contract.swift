// The first file of Contract.
