/** A week of the simulated year. */
import { describeSmall } from "../../small.ts";
import { year } from "./year.ts";

describeSmall(year);
