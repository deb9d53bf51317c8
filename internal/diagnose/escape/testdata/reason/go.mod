module example.com/reason

go 1.25
