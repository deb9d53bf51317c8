module github.com/heaptrim/heaptrim/rt

go 1.25.0
