module github.com/heaptrim/heaptrim/lab/chat/server

go 1.25
