module github.com/heaptrim/heaptrim/lab

go 1.26.0
