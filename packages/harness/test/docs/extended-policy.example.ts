import { extendPolicy } from "@tau/policy";

const workdays = [1, 2, 3, 4, 5];

/** For the parameter `decide`: the policy of tau, and no refunds at the weekend. */
export const createShopPolicy = (now: () => Date) =>
  extendPolicy((_request, _next, call) =>
    call?.toolName === "refund" && !workdays.includes(now().getDay())
      ? { kind: "deny", rule: "weekend", reason: "Refunds are made from Monday to Friday." }
      : undefined,
  );
