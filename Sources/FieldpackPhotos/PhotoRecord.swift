import FieldpackCore
import FieldpackField
import FieldpackGeoPackage
import FieldpackGeometry
import FieldpackHTTP
import FieldpackMedia
import FieldpackProjection

/// Stores what was found for a point, in one transaction.
struct PhotoRecord {
  let point: PhotoPoint
  let finding: PhotoFinding
  let provider: String
  let settings: PhotoFetch.Settings
  let now: Instant

  /// What storing came to.
  enum Result: Sendable {
    case stored(PhotoFetch.Outcome)
    /// The point waits no longer; nothing is stored.
    case settled
    /// The photo is another point's meanwhile; nothing is stored.
    case taken
  }

  func store(_ writer: GeoPackageWriter) throws(FieldpackError) -> Result {
    let id = FeatureID.integer(point.id)
    let state = try writer.feature(id, in: PhotoLayers.point)?[Column<String>("photo_state")]
    guard state == PhotoState.pending.rawValue else { return .settled }
    let layers = try PhotoLayers.found(writer)
    if try isTaken(layers, writer) { return .taken }
    let outcome = try storeJob(writer)
    if !finding.isUnavailable { try storeCandidates(layers, writer) }
    try writer.update(
      id, in: PhotoLayers.point, set: ["photo_state": .text(outcome.state.rawValue)])
    return .stored(outcome)
  }

  /// A point that has its picture needs no job any more.
  private func storeJob(_ writer: GeoPackageWriter) throws(FieldpackError) -> PhotoFetch.Outcome {
    let subject = Value.integer(point.id)
    var job = try PhotoLayers.jobs.job(of: subject, writer) ?? Job(subject, with: provider)
    job.target = provider
    let rules = JobRules(attempts: settings.attempts, backOff: settings.backOff)
    job = rules.job(job, after: finding.answer, at: now)
    let outcome = outcome(of: job)
    if outcome.state == .found {
      try PhotoLayers.jobs.delete(of: subject, writer)
    } else {
      try PhotoLayers.jobs.save(
        job, at: now, writer,
        with: ["radius_m": outcome.radius.map(Value.real) ?? .null])
    }
    return outcome
  }

  /// Whether another point of the track has the photo, which was not known when it was chosen.
  private func isTaken(
    _ layers: PhotoLayers, _ writer: GeoPackageWriter
  ) throws(FieldpackError) -> Bool {
    guard let chosen = finding.chosen, !finding.isRepeated,
      let photo = try knownRow(of: chosen, writer)
    else { return false }
    for base in try writer.bases(relatedTo: photo, by: layers.candidates) {
      let isChosen = try writer.links(by: layers.candidates, of: base).contains {
        $0.related == photo && $0.attributes["chosen"] == .integer(1)
      }
      guard isChosen, base != .integer(point.id) else { continue }
      let track = try writer.feature(base, in: PhotoLayers.point)?[Column<Int64>("track_fid")]
      if track == point.track { return true }
    }
    return false
  }

  private func outcome(of job: Job) -> PhotoFetch.Outcome {
    var outcome = PhotoFetch.Outcome(
      point: .integer(point.id), track: point.track, state: .none, radius: finding.radius)
    outcome.message = job.message
    switch job.state {
    case .succeeded:
      outcome.state = .found
      outcome.photo = finding.chosen
      outcome.distance = finding.chosen.flatMap(distance)
    case .queued: outcome.state = .pending
    default:
      if finding.failure != nil {
        outcome.state = .failed
      } else if !finding.candidates.isEmpty {
        outcome.state = .duplicate
      }
    }
    return outcome
  }

  private func distance(to candidate: PhotoCandidate) -> Double? {
    candidate.position.map { Geodesic.wgs84.distance(from: point.position, to: $0) }
  }

  // MARK: Rows

  /// The photos with their links, and the picture of the one that was chosen.
  private func storeCandidates(
    _ layers: PhotoLayers, _ writer: GeoPackageWriter
  ) throws(FieldpackError) {
    let relations = RelationRows(layers: layers)
    try relations.removeLinks(of: .integer(point.id), writer)
    for (rank, candidate) in finding.candidates.enumerated() {
      let isChosen = candidate.id == finding.chosen?.id
      let photo = try row(of: candidate, writer)
      var link: Attributes = [
        "rank": .integer(Int64(rank)), "chosen": .integer(isChosen ? 1 : 0),
      ]
      link["distance_m"] = distance(to: candidate).map(Value.real) ?? .null
      try writer.link(
        .integer(point.id), to: photo, by: layers.candidates, attributes: link)
      if isChosen, let picture = finding.picture {
        try storePicture(picture, of: candidate, photo, layers, writer)
      }
    }
  }

  private func knownRow(
    of candidate: PhotoCandidate, _ writer: GeoPackageWriter
  ) throws(FieldpackError) -> FeatureID? {
    let isThis =
      Column<String>("provider") == provider && Column<String>("photo_id") == candidate.id
    return try writer.features(
      Query(PhotoLayers.photo, where: isThis).withoutGeometry().select([]).limit(1)
    ).first?.id
  }

  private func row(
    of candidate: PhotoCandidate, _ writer: GeoPackageWriter
  ) throws(FieldpackError) -> FeatureID {
    if let id = try knownRow(of: candidate, writer) { return id }
    func text(_ value: String?) -> Value { value.map(Value.text) ?? .null }
    return try writer.create(
      Feature(
        geometry: candidate.position.map { .point(x: $0.x, y: $0.y) },
        attributes: [
          "provider": .text(provider), "photo_id": .text(candidate.id),
          "owner": text(candidate.owner), "title": .text(candidate.title),
          "license": text(candidate.license), "source_url": .text(candidate.source),
          "secret": text(candidate.secret), "server": text(candidate.server),
          "farm": candidate.farm.map { .integer(Int64($0)) } ?? .null,
          "size_code": text(candidate.size?.rawValue),
        ]), in: PhotoLayers.photo)
  }

  /// A picture that another photo has, too, is kept once.
  private func storePicture(
    _ picture: Picture, of candidate: PhotoCandidate, _ photo: FeatureID, _ layers: PhotoLayers,
    _ writer: GeoPackageWriter
  ) throws(FieldpackError) {
    try writer.update(
      photo, in: PhotoLayers.photo, set: ["fetched_at": .dateTime(now)])
    let same = try writer.features(
      Query(PhotoLayers.media, where: Column<String>("sha256") == picture.digest)
        .select([]).limit(1))
    if let media = same.first?.id {
      return try writer.link(photo, to: media, by: layers.pictures)
    }
    func number(_ value: Int?) -> Value { value.map { .integer(Int64($0)) } ?? .null }
    try writer.addMedia(
      picture.bytes, as: picture.type.rawValue,
      attributes: [
        "role": "photo", "file_name": .text("\(candidate.id).\(picture.fileExtension)"),
        "width_px": number(picture.size?.width), "height_px": number(picture.size?.height),
        "byte_count": number(picture.bytes.count), "sha256": .text(picture.digest),
      ], to: PhotoLayers.media, relatedTo: photo, by: layers.pictures)
  }
}

extension PhotoFinding {
  /// What the search means for the point's job.
  fileprivate var answer: JobAnswer {
    if chosen != nil { return .done }
    if let failure {
      return isUnavailable
        ? .unreachable(failure) : .failed(failure, again: true, asked: failure.askedPause)
    }
    let reason =
      candidates.isEmpty
      ? "no photo lies as near as that"
      : "all photos around are those of other points of the track"
    return .failed(FieldpackError(.notFound, reason), again: false)
  }
}

/// The links of a point.
private struct RelationRows {
  let layers: PhotoLayers

  /// Takes away those of an earlier try, whose photos may not be candidates any more.
  func removeLinks(
    of point: FeatureID, _ writer: GeoPackageWriter
  ) throws(FieldpackError) {
    for photo in try writer.related(to: point, by: layers.candidates) {
      try writer.unlink(point, from: photo, by: layers.candidates)
    }
  }
}
