import { AwsEventStreamFramer } from "../../transport/aws-event-stream.ts";
import { defineProtocol } from "../protocol.ts";
import { authorize } from "./authorize.ts";
import { encode } from "./encode.ts";
import { type BedrockOptions, resolveOptions } from "./options.ts";
import { type BedrockState, start, step } from "./step.ts";

export const bedrockConverseStream = defineProtocol<BedrockOptions, BedrockState>({
  api: "bedrock-converse-stream",
  framing: () => new AwsEventStreamFramer(),
  resolveOptions,
  encode,
  authorize,
  start,
  step,
});
