module server

// The Go that fasthttp asks for, so that both Go contenders are built alike.
go 1.25.0

require github.com/gorilla/websocket v1.5.3
