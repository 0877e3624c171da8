package main

import (
	"context"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/types/known/wrapperspb"
)

// What protoc-gen-go-grpc makes of a service with one method; written out, so
// that the build needs no compiler for .proto files.
type benchServer interface {
	Echo(context.Context, *wrapperspb.BytesValue) (*wrapperspb.BytesValue, error)
}

var benchService = grpc.ServiceDesc{
	ServiceName: "drome.Bench",
	HandlerType: (*benchServer)(nil),
	Methods:     []grpc.MethodDesc{{MethodName: "Echo", Handler: handleEcho}},
}

func handleEcho(
	server any,
	ctx context.Context,
	decode func(any) error,
	interceptor grpc.UnaryServerInterceptor,
) (any, error) {
	message := new(wrapperspb.BytesValue)
	if err := decode(message); err != nil {
		return nil, err
	}
	if interceptor == nil {
		return server.(benchServer).Echo(ctx, message)
	}
	info := &grpc.UnaryServerInfo{Server: server, FullMethod: "/drome.Bench/Echo"}
	handler := func(ctx context.Context, message any) (any, error) {
		return server.(benchServer).Echo(ctx, message.(*wrapperspb.BytesValue))
	}
	return interceptor(ctx, message, info, handler)
}
