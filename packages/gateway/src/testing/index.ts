/** For tests of what speaks to a gateway. */
export { openTestGateway, type TestGateway, type TestGatewayOptions } from "./test-gateway.ts";
export { connectRaw, openRaw, type RawClient, type RawClientOptions } from "./raw-client.ts";
