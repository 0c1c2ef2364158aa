import FieldpackCore
import FieldpackGeometry

/// The layers of a GPX file, in GDAL's order and with its names.
enum GPXLayerKind: Int, CaseIterable {
  case waypoints, routes, tracks, routePoints, trackPoints

  var name: String {
    switch self {
    case .waypoints: "waypoints"
    case .routes: "routes"
    case .tracks: "tracks"
    case .routePoints: "route_points"
    case .trackPoints: "track_points"
    }
  }

  var geometryType: GeometryType {
    switch self {
    case .waypoints, .routePoints, .trackPoints: .point
    case .routes: .lineString
    case .tracks: .multiLineString
    }
  }

  /// The element that a feature of the layer is.
  var element: String {
    switch self {
    case .waypoints: "wpt"
    case .routes: "rte"
    case .tracks: "trk"
    case .routePoints: "rtept"
    case .trackPoints: "trkpt"
    }
  }

  var isPoint: Bool { geometryType == .point }

  /// The kinds that `names` asks for, all without.
  static func wanted(_ names: Set<String>?) -> Set<GPXLayerKind> {
    Set(allCases.filter { names?.contains($0.name) ?? true })
  }
}

/// An attribute that GPX itself defines, in the order of the columns.
///
/// GDAL's names and order; `speed` and `course` stand behind them. They are GPX 1.0's, but found in
/// files that call themselves 1.1. `url` and `urlname` of 1.0 are read as the first link.
enum GPXField: Int, CaseIterable {
  case trackFID, trackSegmentID, trackSegmentPointID, routeFID, routePointID
  case ele, time, magvar, geoidheight, name, cmt, desc, src
  case link1Href, link1Text, link1Type, link2Href, link2Text, link2Type
  case link3Href, link3Text, link3Type, link4Href, link4Text, link4Type
  case number, sym, type, fix, sat, hdop, vdop, pdop, ageofdgpsdata, dgpsid, speed, course

  /// Links of one element beyond these are left out.
  static let maximumLinks = 4

  static func link(_ index: Int, part: Int) -> GPXField? {
    GPXField(rawValue: link1Href.rawValue + index * 3 + part)
  }

  var columnName: String {
    switch self {
    case .trackFID: "track_fid"
    case .trackSegmentID: "track_seg_id"
    case .trackSegmentPointID: "track_seg_point_id"
    case .routeFID: "route_fid"
    case .routePointID: "route_point_id"
    case .link1Href: "link1_href"
    case .link1Text: "link1_text"
    case .link1Type: "link1_type"
    case .link2Href: "link2_href"
    case .link2Text: "link2_text"
    case .link2Type: "link2_type"
    case .link3Href: "link3_href"
    case .link3Text: "link3_text"
    case .link3Type: "link3_type"
    case .link4Href: "link4_href"
    case .link4Text: "link4_text"
    case .link4Type: "link4_type"
    default: "\(self)"
    }
  }

  /// The type that the schema gives; values that are not of it make the column TEXT.
  enum Kind { case integer, real, time, text }

  var kind: Kind {
    switch self {
    case .trackFID, .trackSegmentID, .trackSegmentPointID, .routeFID, .routePointID, .number, .sat,
      .dgpsid:
      .integer
    case .ele, .magvar, .geoidheight, .hdop, .vdop, .pdop, .ageofdgpsdata, .speed, .course: .real
    case .time: .time
    default: .text
    }
  }

  /// The attribute that a child element of `kind` holds as its text.
  static func of(_ tag: GPXTag, in kind: GPXLayerKind) -> GPXField? {
    switch tag {
    case .name: .name
    case .cmt: .cmt
    case .desc: .desc
    case .src: .src
    case .url: .link1Href
    case .urlname: .link1Text
    case .type: .type
    case .number: kind.isPoint ? nil : .number
    default: kind.isPoint ? ofPoint(tag) : nil
    }
  }

  private static func ofPoint(_ tag: GPXTag) -> GPXField? {
    switch tag {
    case .ele: .ele
    case .time: .time
    case .magvar: .magvar
    case .geoidheight: .geoidheight
    case .sym: .sym
    case .fix: .fix
    case .sat: .sat
    case .hdop: .hdop
    case .vdop: .vdop
    case .pdop: .pdop
    case .ageofdgpsdata: .ageofdgpsdata
    case .dgpsid: .dgpsid
    case .speed: .speed
    case .course: .course
    default: nil
    }
  }
}
