import type { Msg, NatsConnection, Subscription } from "@nats-io/transport-node";
import { getErrorMessage } from "@tau/ai/internal";

interface ListenOptions {
  log: (line: string) => void;
  take: (message: Msg) => void;
}

/**
 * Takes the messages of a subject. One that cannot be taken is logged, and so is a server that refuses the subscription: an
 * exception would end the reading of the connection.
 */
export function listen(nats: NatsConnection, subject: string, { log, take }: ListenOptions): Subscription {
  return nats.subscribe(subject, {
    callback: (refusal, message) => {
      try {
        if (refusal) throw refusal;
        take(message);
      } catch (error) {
        log(`What nodes say at ${message.subject ?? subject} cannot be taken: ${getErrorMessage(error)}`);
      }
    },
  });
}
