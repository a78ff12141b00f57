import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { HarnessError } from "@tau/protocol";
import { JsonRpcError, errorCodes, toErrorRecord } from "./errors.ts";
import { parseMessage } from "./message.ts";

const parse = (value: unknown) => parseMessage(JSON.stringify(value));

describe("a line", () => {
  test.each<[line: string, kind: string]>([
    ["", "blank"],
    ["  \t", "blank"],
    ['{"jsonrpc":"2.0","id":0,"method":"initialize"}', "request"],
    ['{"jsonrpc":"2.0","id":"a","method":"initialize","params":{}}', "request"],
    ['{"jsonrpc":"2.0","id":null,"method":"initialize","params":null}', "request"],
    ['{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"s"}}', "notification"],
    ['{"jsonrpc":"2.0","id":1,"result":null}', "response"],
    ['{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"no"}}', "error"],
    ['{"jsonrpc":"2.0","id":1,"error":7}', "error"],
  ])("%j is of the kind %s", (line, kind) => {
    expect(parseMessage(line).kind).toBe(kind);
  });

  test.each<[line: string, code: JsonRpcError["code"], id: unknown]>([
    ["{", "parse_error", null],
    ["[]", "invalid_request", null],
    ['[{"jsonrpc":"2.0","id":1,"method":"initialize"}]', "invalid_request", null],
    ["7", "invalid_request", null],
    ['{"id":1,"method":"initialize"}', "invalid_request", 1],
    ['{"jsonrpc":"1.0","id":1,"method":"initialize"}', "invalid_request", 1],
    ['{"jsonrpc":"2.0","id":{},"method":"initialize"}', "invalid_request", null],
    ['{"jsonrpc":"2.0","id":1,"method":7}', "invalid_request", 1],
    ['{"jsonrpc":"2.0","id":1}', "invalid_request", 1],
    ['{"jsonrpc":"2.0","id":1,"method":"initialize","params":[]}', "invalid_params", 1],
  ])("%j is refused with %s", (line, code, id) => {
    expect(parseMessage(line)).toMatchObject({ kind: "malformed", id, error: { code } });
  });

  test("is never refused with an exception", () => {
    fc.assert(fc.property(fc.oneof(fc.string(), fc.json()), (line) => void parseMessage(line)));
    fc.assert(fc.property(fc.anything(), (value) => void (JSON.stringify(value) !== undefined && parse(value))));
  });
});

test.each<[error: unknown, code: keyof typeof errorCodes, data: unknown]>([
  [new JsonRpcError("not_found", "gone"), "not_found", undefined],
  [new HarnessError("session_not_found", "gone"), "not_found", { code: "session_not_found" }],
  [new HarnessError("unknown_model", "gone"), "invalid_params", { code: "unknown_model" }],
  [new HarnessError("no_model", "gone"), "auth_required", { code: "no_model" }],
  [new HarnessError("busy", "gone"), "invalid_request", { code: "busy" }],
  [new HarnessError("write_failed", "gone"), "internal_error", { code: "write_failed" }],
  [new TypeError("gone"), "internal_error", undefined],
  ["gone", "internal_error", undefined],
])("%s is the error %s, without a stack", (error, code, data) => {
  expect(toErrorRecord(error)).toEqual({
    code: errorCodes[code],
    message: "gone",
    ...(data !== undefined && { data }),
  });
});
