/** 6sense: the company of a visitor. It names no person. */
import type { Vendor } from "./vendor.ts";

export const sixsense: Vendor = {
  title: "6sense",
  recognizedBy: [
    ["company.companyId", "company.employeeRange", "confidence"],
    ["company.countryISOCode", "company.revenueRange", "segments.ids"],
    ["company.company_match", "company.employee_range", "company.revenue_range"],
    ["company.companyMatch", "company.employeeRange", "company.revenueRange"],
  ],
  person: null,
  fields: {
    company: ["company.name"],
    city: ["company.city"],
    state: ["company.state", "company.stateCode"],
    country: ["company.country"],
  },
  notKept: ["company.domain", "company.employeeRange", "confidence", "segments.ids", "scores.product"],
  sample: {
    company: {
      companyId: "c1",
      name: "Harbor & Pine",
      domain: "harbor.example.com",
      country: "United States",
      countryISOCode: "US",
      state: "Nevada",
      stateCode: "NV",
      city: "Reno",
      employeeRange: "10 - 49",
      revenueRange: "$1M - $5M",
    },
    confidence: "High",
    segments: { ids: [1], names: ["A"] },
    page_url: "https://shop.example.com/pricing",
  },
  lead: { company: "Harbor & Pine", city: "Reno", state: "NV", page_url: "https://shop.example.com/pricing" },
};
