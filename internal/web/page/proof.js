// Proof: before and after, measured.

// proofView is there when a proof was recorded.
export const proofView = { id: "proof", title: "Proof", there: (data) => Boolean(data.views.proof) };
