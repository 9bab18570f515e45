"""Receives OTLP over HTTP and decodes it by OpenTelemetry's own definition. Prints each request as a line of JSON."""

import base64
import json
from http.server import BaseHTTPRequestHandler, HTTPServer

from google.protobuf.json_format import MessageToDict, Parse
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

requests = {"/v1/traces": ExportTraceServiceRequest, "/v1/metrics": ExportMetricsServiceRequest}


def with_base64(document):
    """In OTLP's JSON, IDs are hexadecimal; in that of Protocol Buffers, bytes are in base64."""
    if isinstance(document, list):
        return [with_base64(one) for one in document]
    if not isinstance(document, dict):
        return document
    ids = ("traceId", "spanId", "parentSpanId")
    return {
        name: base64.b64encode(bytes.fromhex(value)).decode() if name in ids else with_base64(value)
        for name, value in document.items()
    }


class Receiver(BaseHTTPRequestHandler):
    def do_POST(self):
        body = b"".join(self.chunks())
        message = requests[self.path]()
        if self.headers["content-type"] == "application/x-protobuf":
            message.ParseFromString(body)
        else:
            # Refuses members that the definition does not have.
            Parse(json.dumps(with_base64(json.loads(body))), message)
        print(json.dumps(MessageToDict(message)), flush=True)
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.end_headers()
        self.wfile.write(b"{}")

    def chunks(self):
        if self.headers["transfer-encoding"] != "chunked":
            yield self.rfile.read(int(self.headers["content-length"]))
            return
        while size := int(self.rfile.readline(), 16):
            yield self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()

    def log_message(self, *_):
        pass


server = HTTPServer(("127.0.0.1", 0), Receiver)
print(server.server_port, flush=True)
server.serve_forever()
