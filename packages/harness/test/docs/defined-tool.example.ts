import { defineTool } from "@tau/harness";
import { z } from "zod";

/** `refund(1_200)` of a shop is not reversible, so a person allows those over 100 first. */
export const createRefundTool = (refund: (orderId: string, amount: number) => Promise<string>) =>
  defineTool({
    name: "refund",
    description: "Refunds an order.",
    input: z.object({ orderId: z.string(), amount: z.number().positive() }),
    output: z.object({ reference: z.string() }),
    needsApproval: ({ amount }) => amount > 100,
    async execute({ orderId, amount }, { progress }) {
      progress(`Refunding ${orderId}…`);
      return { reference: await refund(orderId, amount) };
    },
  });
