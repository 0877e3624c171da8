// Unary calls with any bytes: a method called Echo sends the message back, Fail fails. Every call is a line of standard output.
package main

import (
	"fmt"
	"log"
	"net"
	"os"
	"strings"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/status"
)

// Messages are the bytes that came.
type raw struct{}

func (raw) Name() string { return "proto" }

func (raw) Marshal(message any) ([]byte, error) { return *message.(*[]byte), nil }

func (raw) Unmarshal(data []byte, message any) error {
	*message.(*[]byte) = append([]byte(nil), data...)
	return nil
}

func answer(_ any, stream grpc.ServerStream) error {
	var message []byte
	if err := stream.RecvMsg(&message); err != nil {
		return err
	}
	name, _ := grpc.MethodFromServerStream(stream)
	fmt.Printf("call %s of %d\n", name, len(message))
	if strings.HasSuffix(name, "/Fail") {
		return status.Error(codes.Internal, "as asked")
	}
	return stream.SendMsg(&message)
}

func listen(port string) net.Listener {
	listener, err := net.Listen("tcp", "127.0.0.1:"+port)
	if err != nil {
		log.Fatal(err)
	}
	return listener
}

func serve(listener net.Listener, options ...grpc.ServerOption) {
	options = append(options, grpc.UnknownServiceHandler(answer), grpc.ForceServerCodec(raw{}))
	log.Fatal(grpc.NewServer(options...).Serve(listener))
}

func main() {
	dir := os.Args[1]
	identity, err := credentials.NewServerTLSFromFile(dir+"/cert.pem", dir+"/key.pem")
	if err != nil {
		log.Fatal(err)
	}
	plain, tls := listen(os.Args[2]), listen(os.Args[3])
	go serve(plain)
	serve(tls, grpc.Creds(identity))
}
