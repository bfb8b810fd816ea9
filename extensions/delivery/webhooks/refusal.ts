/** The refusal of a delivery: a code with its status, and one sentence for the person who set up the webhook. */
import { UserError } from "../../../src/runtime/user-error.ts";

const statusOf = {
  invalid_body: 400,
  missing_token: 401,
  invalid_token: 401,
  invalid_signature: 401,
  not_found: 404,
  method_not_allowed: 405,
  too_large: 413,
  unsupported_type: 415,
  internal_error: 500,
  try_again: 503,
} as const;

/** Nothing of a refused delivery is stored, so it can be sent again. */
export class DeliveryRefused extends UserError {
  override readonly name = "DeliveryRefused";
  readonly httpStatus: number;

  constructor(
    readonly code: keyof typeof statusOf,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, `The delivery would be answered with ${statusOf[code]} ${code}.`, 1, options);
    this.httpStatus = statusOf[code];
  }
}

/** Refuses for now: the same delivery may be accepted soon. */
export function tryAgain(why: string, cause?: unknown): DeliveryRefused {
  return new DeliveryRefused("try_again", `${why}; send it again in a moment.`, { cause });
}
