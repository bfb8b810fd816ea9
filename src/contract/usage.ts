/** The usage of a key (§2.4). Days and months are in UTC, and the request itself is counted. */
import { type Static, Type } from "@sinclair/typebox";

export const Usage = Type.Object(
  {
    object: Type.Literal("usage"),
    requests_today: Type.Integer({ minimum: 1, description: "Requests made with the presented key today." }),
    requests_this_month: Type.Integer({ minimum: 1, description: "Requests made with the presented key this month." }),
    rate_limit_per_min: Type.Integer({ minimum: 1, description: "The per-minute limit of the key." }),
  },
  { $id: "Usage", description: "The counts of the presented key." },
);
export type Usage = Static<typeof Usage>;
