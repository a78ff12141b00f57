/** Slack's own libraries, loaded when the first account of Slack is opened. */
export { LogLevel, SocketModeClient } from "@slack/socket-mode";
export { WebClient } from "@slack/web-api";
