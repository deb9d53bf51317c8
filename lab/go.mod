module github.com/heaptrim/heaptrim/lab

go 1.26.0

require (
	github.com/heaptrim/heaptrim/rt v0.0.0-00010101000000-000000000000
	golang.org/x/mod v0.42.0
)

require (
	github.com/aclements/go-moremath v0.0.0-20210112150236-f10218a38794 // indirect
	github.com/klauspost/compress v1.20.3 // indirect
	golang.org/x/perf v0.0.0-20260908200009-22c9c6c9d4da // indirect
	golang.org/x/sync v0.24.0 // indirect
	golang.org/x/tools v0.52.0 // indirect
)

require (
	github.com/KimMachineGun/automemlimit v1.0.1
	github.com/bytedance/gopkg v0.1.4
	github.com/cespare/xxhash/v2 v2.3.0 // indirect
	github.com/dgraph-io/ristretto/v2 v2.4.2
	github.com/dustin/go-humanize v1.0.1 // indirect
	github.com/google/pprof v0.0.0-20260906184651-6331bc6350fe
	github.com/heaptrim/heaptrim v0.0.0-00010101000000-000000000000
	github.com/libp2p/go-buffer-pool v0.1.0
	github.com/oxtoacart/bpool v0.0.0-20190530202638-03653db5a59c
	github.com/pbnjay/memory v0.0.0-20210728143218-7b4eea64cf58 // indirect
	github.com/prometheus/prometheus v0.315.0
	github.com/valyala/bytebufferpool v1.0.0
	github.com/vmihailenco/bufpool v0.1.11
	golang.org/x/exp v0.0.0-20260908205506-85c1c2202aba
	golang.org/x/sys v0.49.0 // indirect
	google.golang.org/grpc v1.85.0
	modernc.org/memory v1.12.1
)

replace github.com/heaptrim/heaptrim/rt => ../rt

replace github.com/heaptrim/heaptrim => ../
