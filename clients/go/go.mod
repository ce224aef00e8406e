module mintmark.localhost/mintmark

go 1.19
