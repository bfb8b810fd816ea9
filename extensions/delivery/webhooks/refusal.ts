/** Why a delivery is refused: a code with its status, and one sentence for whoever connected the vendor. */

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

type RefusalCode = keyof typeof statusOf;

/** Nothing of a refused delivery was kept, so it can be sent again. */
export class DeliveryRefused extends Error {
  override readonly name = "DeliveryRefused";

  constructor(
    readonly code: RefusalCode,
    message: string,
    /** Seconds to wait before another try; null where another try is of no use. */
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

/** Refuses for now: the same delivery may be taken in a moment. */
export function tryAgain(why: string, cause?: unknown): DeliveryRefused {
  const refused = new DeliveryRefused("try_again", `${why}; send it again in a moment.`, retryAfterSeconds);
  refused.cause = cause;
  return refused;
}
