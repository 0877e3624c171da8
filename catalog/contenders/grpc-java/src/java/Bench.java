import com.google.protobuf.BytesValue;
import io.grpc.BindableService;
import io.grpc.MethodDescriptor;
import io.grpc.MethodDescriptor.MethodType;
import io.grpc.ServerServiceDefinition;
import io.grpc.protobuf.ProtoUtils;
import io.grpc.stub.ServerCalls;
import io.grpc.stub.StreamObserver;

/** The service; its description is written out, so that the build needs no compiler for .proto files. */
class Bench implements BindableService {
    private static final String NAME = "drome.Bench";

    private static final MethodDescriptor<BytesValue, BytesValue> ECHO =
            MethodDescriptor.<BytesValue, BytesValue>newBuilder()
                    .setType(MethodType.UNARY)
                    .setFullMethodName(MethodDescriptor.generateFullMethodName(NAME, "Echo"))
                    .setSampledToLocalTracing(true)
                    .setRequestMarshaller(ProtoUtils.marshaller(BytesValue.getDefaultInstance()))
                    .setResponseMarshaller(ProtoUtils.marshaller(BytesValue.getDefaultInstance()))
                    .build();

    @Override
    public ServerServiceDefinition bindService() {
        return ServerServiceDefinition.builder(NAME)
                .addMethod(ECHO, ServerCalls.asyncUnaryCall(this::echo))
                .build();
    }

    private void echo(BytesValue message, StreamObserver<BytesValue> answer) {
        answer.onNext(BytesValue.of(message.getValue()));
        answer.onCompleted();
    }
}
