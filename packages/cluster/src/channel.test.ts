import fc from "fast-check";
import { expect, test } from "vitest";
import { Channel, type Packet } from "./channel.ts";

/** Fates of the next packets and acknowledgements that are under way. */
const fates = fc.array(fc.constantFrom("arrives", "is lost", "arrives twice", "comes later"), { maxLength: 60 });

test("each packet arrives once and in order, whatever is lost, doubled or late", () => {
  fc.assert(
    fc.property(fates, fc.integer({ min: 1, max: 20 }), (plan, count) => {
      const [sender, receiver] = [new Channel(), new Channel()];
      const arrived: string[] = [];
      const late: Packet[] = [];
      let step = 0;
      const carry = (packet: Packet) => {
        if (receiver.onArrival(packet.number) === "next") arrived.push(packet.text);
      };
      const send = (packet: Packet) => {
        const fate = plan[step++] ?? "arrives";
        if (fate === "comes later") late.push(packet);
        if (fate === "arrives" || fate === "arrives twice") carry(packet);
        if (fate === "arrives twice") carry(packet);
      };
      const sent = Array.from({ length: count }, (_, index) => `packet ${index}`);
      for (const text of sent) send(sender.add({ text, data: new Uint8Array(), hasMore: false }));
      while (!sender.isAcked) {
        for (const packet of sender.listUnacked()) send(packet);
        for (const packet of late.splice(0)) carry(packet);
        if ((plan[step++] ?? "arrives") !== "is lost") sender.onAck(receiver.received);
      }
      expect(arrived).toEqual(sent);
    }),
  );
});

test("a packet that reached nobody leaves no gap when it is replaced", () => {
  const [sender, receiver] = [new Channel(), new Channel()];
  const packet = sender.add({ text: "a call", data: new Uint8Array(3), hasMore: false });
  const empty = sender.replace(packet, "");
  const next = sender.add({ text: "more", data: new Uint8Array(), hasMore: false });
  expect(sender.listUnacked()).toEqual([empty, next]);
  expect(receiver.onArrival(next.number)).toBe("gap");
  expect([receiver.takeGap(), receiver.takeGap()]).toEqual([true, false]);
  expect([receiver.onArrival(empty.number), receiver.onArrival(next.number)]).toEqual(["next", "next"]);
});
