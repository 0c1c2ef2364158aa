/// An element of GPX by its local name.
enum GPXTag: UInt8, CaseIterable {
  case gpx, wpt, rte, rtept, trk, trkseg, trkpt, link, text, extensions
  case ele, time, magvar, geoidheight, name, cmt, desc, src, url, urlname, sym, type, number
  case metadata, bounds, author, email, keywords
  case fix, sat, hdop, vdop, pdop, ageofdgpsdata, dgpsid, speed, course
  case other

  static let byName: [String: GPXTag] = Dictionary(
    uniqueKeysWithValues: allCases.dropLast().map { ("\($0)", $0) })
}

/// Finds the tag of a name by the name's pointer, which the parser keeps unique.
struct GPXTagTable {
  private struct Slot {
    var local: UnsafePointer<UInt8>?
    var uri: UnsafePointer<UInt8>?
    var tag = GPXTag.other
  }

  private var slots = [Slot](repeating: Slot(), count: 256)
  /// The namespace of the root: what is in another is not GPX.
  var namespace: UnsafePointer<UInt8>?

  mutating func tag(of name: XMLName) -> GPXTag {
    let hash = (UInt(bitPattern: name.local) >> 2) ^ (UInt(bitPattern: name.local) >> 9)
    let index = Int(hash & 255)
    let slot = slots[index]
    if slot.local == name.local, slot.uri == name.uri { return slot.tag }
    let tag: GPXTag =
      name.uri == namespace
      ? GPXTag.byName[String(cString: name.local)] ?? .other : .other
    slots[index] = Slot(local: name.local, uri: name.uri, tag: tag)
    return tag
  }
}
