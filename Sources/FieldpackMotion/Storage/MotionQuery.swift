public import FieldpackCore

/// A question about samples as SQL with parameters, for `GeoPackageStore.rows(sql:parameters:)`.
///
///     let query = MotionQuery.last(10, of: .az, session: id)
///     for try await batch in store.rows(sql: query.sql, parameters: query.parameters) { … }
public struct MotionQuery: Hashable, Sendable {
  public var sql: String
  public var parameters: [Value]

  public init(sql: String, parameters: [Value]) {
    self.sql = sql
    self.parameters = parameters
  }

  private static let ofSession =
    "FROM daco_batch b JOIN daco_sample s ON s.batch_id = b.id "
    + "WHERE b.session_id = (SELECT id FROM daco_session WHERE uuid = ?1)"

  /// `t_unix` and the value of a channel in the last seconds that a session sent.
  public static func last(
    _ seconds: Double, of channel: MotionChannel, session: String
  ) -> MotionQuery {
    let end =
      "(SELECT max(sent_at_unix) FROM daco_batch WHERE session_id = "
      + "(SELECT id FROM daco_session WHERE uuid = ?1)) - ?2"
    return MotionQuery(
      sql: "SELECT s.t_unix, s.\(channel.rawValue) \(ofSession) AND b.sent_at_unix > \(end) "
        + "AND s.t_unix > \(end) ORDER BY s.t_unix, s.id",
      parameters: [.text(session), .real(seconds)])
  }

  /// `t_unix` and channels of a session's samples by time.
  ///
  /// - Parameter seconds: only those of so many seconds before the last; `nil` for all.
  public static func samples(
    ofSession session: String, _ channels: [MotionChannel] = MotionChannel.allCases,
    last seconds: Double? = nil
  ) -> MotionQuery {
    let values = channels.map { ", s.\($0.rawValue)" }.joined()
    let end =
      "(SELECT max(sent_at_unix) FROM daco_batch WHERE session_id = "
      + "(SELECT id FROM daco_session WHERE uuid = ?1)) - ?2"
    return MotionQuery(
      sql: "SELECT s.t_unix\(values) \(ofSession) AND (?2 IS NULL OR s.t_unix > \(end)) "
        + "ORDER BY s.t_unix, s.id",
      parameters: [.text(session), seconds.map { .real($0) } ?? .null])
  }

  /// Samples of all sessions, the nearest in time first: `uuid`, `id`, `t_unix`, the seconds from
  /// `time` as `dt`, and the twelve channels.
  ///
  /// - Parameters:
  ///   - time: seconds since 1970, such as a fix's.
  ///   - seconds: the largest distance in time of a sample.
  public static func nearest(
    to time: Double, within seconds: Double = 1, limit: Int = 1
  ) -> MotionQuery {
    MotionQuery(
      sql: "SELECT e.uuid, s.id, s.t_unix, s.t_unix - ?1 AS dt, \(channels("s")) "
        + "FROM daco_sample s JOIN daco_batch b ON b.id = s.batch_id "
        + "JOIN daco_session e ON e.id = b.session_id "
        + "WHERE s.t_unix BETWEEN ?1 - ?2 AND ?1 + ?2 ORDER BY abs(s.t_unix - ?1), s.id LIMIT ?3",
      parameters: [.real(time), .real(seconds), .integer(Int64(limit))])
  }

  /// The mean of each channel in steps of time: the beginning of the step as `t_unix`, `samples`
  /// and the twelve channels.
  ///
  /// - Parameter rate: steps a second, more than 0.
  public static func resampled(to rate: Double, session: String) -> MotionQuery {
    let means = MotionChannel.allCases.map { "avg(s.\($0.rawValue)) AS \($0.rawValue)" }
    return MotionQuery(
      sql: "SELECT CAST(s.t_unix * ?2 AS INTEGER) / ?2 AS t_unix, count(*) AS samples, "
        + "\(means.joined(separator: ", ")) \(ofSession) GROUP BY 1 ORDER BY 1",
      parameters: [.text(session), .real(rate)])
  }

  /// The range and mean of a channel in each second: `second`, `samples`, `least`, `mean`,
  /// `greatest`.
  public static func perSecond(_ channel: MotionChannel, session: String) -> MotionQuery {
    let column = "s.\(channel.rawValue)"
    return MotionQuery(
      sql: "SELECT CAST(s.t_unix AS INTEGER) AS second, count(\(column)) AS samples, "
        + "min(\(column)) AS least, avg(\(column)) AS mean, max(\(column)) AS greatest "
        + "\(ofSession) GROUP BY 1 ORDER BY 1",
      parameters: [.text(session)])
  }

  private static func channels(_ table: String) -> String {
    MotionChannel.allCases.map { "\(table).\($0.rawValue)" }.joined(separator: ", ")
  }
}
