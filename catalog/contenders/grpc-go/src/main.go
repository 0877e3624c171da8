package main

import (
	"context"
	"log"
	"net"
	"os"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/protobuf/types/known/wrapperspb"
)

func main() {
	if len(os.Args) != 2 && (len(os.Args) != 6 || os.Args[2] != "--tls") {
		log.Fatal("usage: server PORT [--tls PORT CERTIFICATE KEY]")
	}
	if len(os.Args) == 6 {
		tls, err := credentials.NewServerTLSFromFile(os.Args[4], os.Args[5])
		if err != nil {
			log.Fatal(err)
		}
		go serve(os.Args[3], grpc.Creds(tls))
	}
	serve(os.Args[1])
}

func serve(port string, options ...grpc.ServerOption) {
	listener, err := net.Listen("tcp", host()+":"+port)
	if err != nil {
		log.Fatal(err)
	}
	server := grpc.NewServer(options...)
	server.RegisterService(&benchService, bench{})
	log.Fatal(server.Serve(listener))
}

type bench struct{}

func (bench) Echo(_ context.Context, message *wrapperspb.BytesValue) (*wrapperspb.BytesValue, error) {
	return wrapperspb.Bytes(message.GetValue()), nil
}

// host is the address to listen on.
func host() string {
	if host := os.Getenv("DROME_HOST"); host != "" {
		return host
	}
	return "127.0.0.1"
}
