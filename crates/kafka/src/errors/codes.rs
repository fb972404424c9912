//! The client's error codes in groups that matter to Dwell. No code is in two.

use rdkafka::error::RDKafkaErrorCode;

/// The way to the brokers, or an answer that did not come in time.
pub(super) fn is_connectivity(code: RDKafkaErrorCode) -> bool {
    use RDKafkaErrorCode as C;
    matches!(
        code,
        C::BrokerTransportFailure
            | C::Resolve
            | C::MessageTimedOut
            | C::AllBrokersDown
            | C::OperationTimedOut
            | C::TimedOutQueue
            | C::SSL
            | C::Authentication
            | C::SaslAuthenticationFailed
            | C::UnsupportedSASLMechanism
            | C::IllegalSASLState
            | C::BrokerDestroy
            | C::DestroyBroker
            | C::UnknownBroker
            | C::NodeUpdate
            | C::WaitCache
            | C::WaitingForCoordinator
            | C::Retry
            | C::InProgress
            | C::PreviousInProgress
            | C::Interrupted
            | C::CriticalSystemResource
            | C::RequestTimedOut
            | C::NetworkException
            | C::BrokerNotAvailable
            | C::LeaderNotAvailable
            | C::RebootstrapRequired
    )
}

/// A broker or the controller that cannot serve at the moment.
pub(super) fn is_broker_trouble(code: RDKafkaErrorCode) -> bool {
    use RDKafkaErrorCode as C;
    matches!(
        code,
        C::Fail
            | C::Unknown
            | C::ISRInsufficient
            | C::NotLeaderForPartition
            | C::ReplicaNotAvailable
            | C::StaleControllerEpoch
            | C::StaleBrokerEpoch
            | C::CoordinatorLoadInProgress
            | C::CoordinatorNotAvailable
            | C::NotCoordinator
            | C::NotEnoughReplicas
            | C::NotEnoughReplicasAfterAppend
            | C::NotController
            | C::KafkaStorageError
            | C::LogDirNotFound
            | C::ReassignmentInProgress
            | C::NoReassignmentInProgress
            | C::ListenerNotFound
            | C::FencedLeaderEpoch
            | C::UnknownLeaderEpoch
            | C::OffsetNotAvailable
            | C::PreferredLeaderNotAvailable
            | C::EligibleLeadersNotAvailable
            | C::ElectionNotNeeded
            | C::ThrottlingQuotaExceeded
            | C::ConcurrentTransactions
            | C::UnsupportedCompressionType
    )
}

/// The producer's identity, sequence or permission to be idempotent is gone, or it was set up wrongly.
pub(super) fn is_fatal(code: RDKafkaErrorCode) -> bool {
    use RDKafkaErrorCode as C;
    matches!(
        code,
        C::Fatal
            | C::GaplessGuarantee
            | C::Inconsistent
            | C::Fenced
            | C::State
            | C::NotConfigured
            | C::NotImplemented
            | C::UnsupportedFeature
            | C::UnsupportedVersion
            | C::UnknownProtocol
            | C::InvalidRequest
            | C::InvalidRequiredAcks
            | C::ClusterAuthorizationFailed
            | C::TransactionalIdAuthorizationFailed
            | C::OutOfOrderSequenceNumber
            | C::DuplicateSequenceNumber
            | C::UnknownProducerId
            | C::InvalidProducerEpoch
            | C::ProducerFenced
            | C::InvalidProducerIdMapping
            | C::InvalidTransactionalState
            | C::InvalidTransactionTimeout
            | C::TransactionCoordinatorFenced
    )
}

/// Codes of groups and fetches.
pub(super) fn is_consumer_code(code: RDKafkaErrorCode) -> bool {
    use RDKafkaErrorCode as C;
    matches!(
        code,
        C::NoError
            | C::PartitionEOF
            | C::UnknownGroup
            | C::ExistingSubscription
            | C::AssignPartitions
            | C::RevokePartitions
            | C::Conflict
            | C::NoOffset
            | C::Outdated
            | C::KeyDeserialization
            | C::ValueDeserialization
            | C::PollExceeded
            | C::AssignmentLost
            | C::Noop
            | C::AutoOffsetReset
            | C::LogTruncation
            | C::OffsetOutOfRange
            | C::OffsetMetadataTooLarge
            | C::IllegalGeneration
            | C::InconsistentGroupProtocol
            | C::InvalidGroupId
            | C::UnknownMemberId
            | C::InvalidSessionTimeout
            | C::RebalanceInProgress
            | C::InvalidCommitOffsetSize
            | C::GroupAuthorizationFailed
            | C::NonEmptyGroup
            | C::GroupIdNotFound
            | C::FetchSessionIdNotFound
            | C::InvalidFetchSessionEpoch
            | C::MemberIdRequired
            | C::GroupMaxSizeReached
            | C::FencedInstanceId
            | C::GroupSubscribedToTopic
            | C::UnstableOffsetCommit
            | C::FencedMemberEpoch
            | C::UnreleasedInstanceId
            | C::UnsupportedAssignor
            | C::StaleMemberEpoch
    )
}

/// Codes of topics, tokens and the library's own files.
pub(super) fn is_admin_code(code: RDKafkaErrorCode) -> bool {
    use RDKafkaErrorCode as C;
    matches!(
        code,
        C::FileSystem
            | C::Partial
            | C::ReadOnly
            | C::NoEnt
            | C::Underflow
            | C::InvalidType
            | C::Application
            | C::TopicAlreadyExists
            | C::InvalidPartitions
            | C::InvalidReplicationFactor
            | C::InvalidReplicaAssignment
            | C::InvalidConfig
            | C::SecurityDisabled
            | C::OperationNotAttempted
            | C::DelegationTokenAuthDisabled
            | C::DelegationTokenNotFound
            | C::DelegationTokenOwnerMismatch
            | C::DelegationTokenRequestNotAllowed
            | C::DelegationTokenAuthorizationFailed
            | C::DelegationTokenExpired
            | C::InvalidPrincipalType
            | C::TopicDeletionDisabled
            | C::ResourceNotFound
            | C::DuplicateResource
            | C::UnacceptableCredential
            | C::InconsistentVoterSet
            | C::InvalidUpdateVersion
            | C::FeatureUpdateFailed
            | C::PrincipalDeserializationFailure
            | C::UnknownSubscriptionId
            | C::TelemetryTooLarge
    )
}
