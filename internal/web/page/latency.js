// Latency: requests by duration, split by who pays. It needs a trace.

// latencyView is there when the report holds what a trace says.
export const latencyView = { id: "latency", title: "Latency", there: (data) => Boolean(data.views.latency) };
