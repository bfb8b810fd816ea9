/** Why a delivery is refused: the status, and one sentence for whoever set the vendor up. */

const statusOf = {
  invalid_body: 400,
  missing_token: 401,
  invalid_token: 401,
  not_found: 404,
  method_not_allowed: 405,
  too_large: 413,
  unsupported_type: 415,
  internal_error: 500,
  try_again: 503,
} as const;

export type RefusalCode = keyof typeof statusOf;

/** Nothing of a refused delivery was kept: it can be sent again as it is, or mended. */
export class DeliveryRefused extends Error {
  override readonly name = "DeliveryRefused";

  constructor(
    readonly code: RefusalCode,
    message: string,
    /** After how many seconds it is worth another try. */
    readonly retryAfterSeconds: number | null = null,
  ) {
    super(message);
  }

  get status(): number {
    return statusOf[this.code];
  }
}

/** How long a vendor is asked to wait. */
export const retryAfterSeconds = 30;

/** A refusal that is not about the delivery: the same one may be taken in a moment. */
export function tryAgain(why: string, cause?: unknown): DeliveryRefused {
  const refused = new DeliveryRefused("try_again", `${why}; send it again in a moment.`, retryAfterSeconds);
  refused.cause = cause;
  return refused;
}
