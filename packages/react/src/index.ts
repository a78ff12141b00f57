/** Sessions of a gateway in React components. */
export { toUIMessages, type UIMessage, type UIMessagePart, type UIToolPart } from "./ui-messages.ts";
export { type SendOptions, type SessionClient, useSession, type UseSession } from "./use-session.ts";
