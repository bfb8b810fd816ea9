/** The profile of a vendor: data that says how its records are recognized, and which path is which field. */
import type { LeadField } from "../../contract/lead.ts";
import type { Target } from "../map/fields.ts";

/** The profile of a vendor. Paths are written as in its documentation; case, separators, and wrappers do not count. */
export interface Vendor {
  /** The name of the vendor, as people write it. */
  readonly title: string;
  /** A record is one of this vendor if it has all paths of one of these lists. Name three that no other vendor has. */
  readonly recognizedBy: readonly (readonly string[])[];
  /**
   * The object that is the person: a path, an empty text for the record itself, or null if nobody in the record is the
   * visitor. Without it, the person is found as in any other record.
   */
  readonly person?: string | null;
  /** The paths of the fields, the preferred first. Fields that are not here are found as in any other record. */
  readonly fields: { readonly [Field in Target]?: readonly string[] };
  /** Paths that no field has, for the documentation. */
  readonly notKept: readonly string[];
  /** Remarks for the documentation, such as how the vendor's webhook is set up. */
  readonly notes?: readonly string[];
  /** A record, or the lines of a CSV file, with made-up people. */
  readonly sample: object | string;
  /**
   * The fields of its lead that are not null. `identified_at` and `pixel_id` are left out if the sample has none, and `id` says
   * only whether the record has one, unless it is a UUID.
   */
  readonly lead: { readonly [Field in LeadField]?: string };
}
