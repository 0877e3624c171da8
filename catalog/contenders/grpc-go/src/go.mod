module server

// The Go that fasthttp asks for, so that all Go contenders are built alike.
go 1.25.0
