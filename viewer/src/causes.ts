// Why a packet was dropped, in a sentence for each cause of run.json.

const CAUSES: Record<string, string> = {
  queue_full: "The interface queue was full when the packet arrived.",
  queue_management: "The discipline of the interface queue dropped the packet, because packets had waited too long.",
  expired: "The packet had expired before its turn to be sent.",
  retry_limit: "The MAC reached its retry limit without an acknowledgement.",
  retry_limit_short: "The MAC reached its short retry limit: the frame, or its RTS, was not answered.",
  retry_limit_long: "The MAC reached its long retry limit: the frame after the RTS was not acknowledged.",
  no_route: "The node had no route to the destination.",
  ttl_expired: "The packet's time to live reached zero.",
  reassembly_timeout: "Other fragments of the datagram did not arrive in time.",
  reassembly_overflow: "Newer datagrams needed the memory for reassembly.",
  duplicate_fragment: "The fragment had arrived before, or its datagram was already complete.",
  misassembled: "Fragments of different datagrams with the same identification were combined.",
  receive_buffer_full: "The receive buffer of the socket had no room.",
  send_buffer_full: "The send buffer of the socket had no room.",
  no_socket: "No socket has this port.",
  corrupted: "The packet arrived damaged.",
  link_loss: "A wire lost the packet.",
  receive_buffers_full: "The card had no free buffer when the frame arrived from the air.",
  route_queue_full: "Too many packets waited for a route, and this was the oldest.",
  route_timeout: "The packet waited too long for a route.",
  unheard: "The frame was sent without acknowledgement and did not reach its station, or a late acknowledgement of another frame hid its loss.",
  arp_queue_full: "Too many packets waited for a neighbour's hardware address, and this was the oldest.",
  arp_timeout: "No neighbour answered with the hardware address that the packet waited for.",
  refused_airtime: "The device refused the stream: too little airtime is left around it.",
  refused_risk: "The device refused the stream: it would stall too often.",
  refused_unknown: "The device refused the stream: it knows too little of a link.",
  refused_hops: "The device refused the stream: the path has too many hops for its rate.",
  refused_rate: "The device refused the stream: a link is slower than the stream.",
  refused_lost: "The device refused the stream: another reservation came first, or messages were lost.",
  refused_absent: "The device refused the stream: it has neither the clip nor the next neighbour.",
  not_associated: "A station on the packet's path belonged to no access point.",
};

export const plain = (cause: string): string => cause.replaceAll(/[-_]/g, " ");
export const because = (cause: string): string => CAUSES[cause.replaceAll("-", "_")] ?? `The node gave it up: ${plain(cause) || "unknown cause"}.`;
// Whether transmissions just before the drop explain it.
export const lostOnAir = (cause: string): boolean => /^(retry|unheard)/.test(cause);
