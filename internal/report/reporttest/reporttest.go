// Package reporttest is what the tests of reports share.
package reporttest

import "strings"

// HostileNames are what a profile, a log or a path may hold.
var HostileNames = []string{
	"\x1b]0;owned\x07\x1b[2J\x1b[31mred",
	"a\nb\r\nc\td\x00e",
	"\u009b31m c1 control",
	"\U000e0041\U000f0000 \u202egnp.exe\u2066 \u200b\ufeff",
	"\xff\xfe broken \xc3",
	"| a | `b` ``c`` <script>alert(1)</script> [x](http://evil) ![i](j) @team #1 \\| \\",
	"=cmd|' /C calc'!A0",
	"+1+1", "-2", "@SUM(A1)", " =1",
	"漢字かな交じり文 한국어 🙂🙂🙂 e\u0301\u0301\u0301",
	strings.Repeat("very/long/", 4000) + "x.F",
	strings.Repeat("[", 300) + strings.Repeat("(", 300),
	"",
}
